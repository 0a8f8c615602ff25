package desk

import (
	"errors"
	"sync"
)

// Inbox is what others tell a loop that owns a T: functions that it runs. A desk's effects come by
// it, so posting never blocks. It has no bound of its own; what fills it has: the desk's queue, the
// windows, and the devices' connections.
type Inbox[T any] struct {
	mu       sync.Mutex
	messages []func(T)
	ready    chan struct{}
}

// NewInbox makes an empty inbox.
func NewInbox[T any]() *Inbox[T] { return &Inbox[T]{ready: make(chan struct{}, 1)} }

// Post adds a message, from any goroutine.
func (i *Inbox[T]) Post(message func(T)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = append(i.messages, message)
	select {
	case i.ready <- struct{}{}:
	default:
	}
}

// Ready receives once after messages came; one wake stands for all that are not taken yet.
func (i *Inbox[T]) Ready() <-chan struct{} { return i.ready }

// Take empties it, oldest first.
func (i *Inbox[T]) Take() []func(T) {
	i.mu.Lock()
	defer i.mu.Unlock()
	messages := i.messages
	i.messages = nil
	return messages
}

// Stopped reports whether the desk's refusal only means that the program ends.
func Stopped(err error) bool { return errors.Is(err, ErrStopped) }
