package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/store/bolt"
)

const (
	// storeFile and markFile are names in the data folder.
	storeFile = "broker.db"
	markFile  = "broker.mark"
	// markEvery is the pause between two notes of how far the store has come.
	markEvery = 10 * time.Second
	// restoredFor is how long after a restore its alarm is raised at each start, and how long it
	// stays by itself.
	restoredFor = 24 * time.Hour
)

// ErrNoStore says that there is no store to be renewed.
var ErrNoStore = errors.New("there is no restored store")

// Renew raises the generation of a broker's store: somebody knows that it was restored where the
// mark beside it cannot tell, because the whole disk was set back. The broker must not run.
func Renew(conf Config) (bolt.Origin, error) {
	if err := conf.Validate(); err != nil {
		return bolt.Origin{}, err
	}
	path := filepath.Join(conf.Data, storeFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return bolt.Origin{}, fmt.Errorf("%w: %s", ErrNoStore, path)
	}
	s, err := openStore(conf.Data, true)
	if err != nil {
		return bolt.Origin{}, err
	}
	return s.Origin(), s.Close()
}

func openStore(data string, renew bool) (*bolt.Store, error) {
	s, err := bolt.Open(filepath.Join(data, storeFile),
		bolt.Options{Mark: filepath.Join(data, markFile), Renew: renew})
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	return s, nil
}

// tellRestored tells each tenant of a restore that it does not know of, and raises the alarm.
// Nothing else is decided before: the first number after it must jump.
func (s *Service) tellRestored(ctx context.Context) error {
	origin := s.file.Origin()
	if origin.Is <= 1 {
		return nil
	}
	why := origin.Why
	if why == "" {
		why = "it was noticed at an earlier start"
	} else {
		s.log.Warn("the store is a restored copy: running numbers jump, and orders of the lost time "+
			"are not known here", "why", why, "generation", origin.Is)
	}
	for _, tenant := range s.tenants() {
		if s.clock.Now().Sub(origin.Renewed) < restoredFor {
			if _, err := s.desk.Do(ctx, alarm.Raise{Tenant: tenant, Cause: alarm.CauseRestored + "/store",
				Severity: alarm.P1, Count: 1, For: restoredFor, Text: restoredText}); err != nil {
				return fmt.Errorf("raising the alarm of a restored store: %w", err)
			}
		}
		if _, err := s.desk.Do(ctx, delivery.Restore{Tenant: tenant, Number: origin.Is,
			At: origin.Renewed, Why: why}); err != nil {
			return fmt.Errorf("telling %s of a restored store: %w", tenant, err)
		}
	}
	return nil
}

const restoredText = "The broker works from a restored copy of its store. Orders taken, tickets " +
	"cancelled and devices paired or revoked after the copy was made are not known to it: send open " +
	"orders again, and look at the devices. Running numbers jump by 1000."

// keepMark notes beside the store how far it has come.
func (s *Service) keepMark(ctx context.Context) {
	ticker := time.NewTicker(markEvery)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := s.file.Mark()
		if err != nil && !failing {
			s.log.Warn("mark of the store not written; a restored copy may pass unnoticed", "err", err)
		}
		failing = err != nil
	}
}
