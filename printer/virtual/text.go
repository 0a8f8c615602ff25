package virtual

func (s Sheet) text(styled bool) string { return "" }
