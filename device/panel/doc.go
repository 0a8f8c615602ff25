// Package panel is what a device has beside its printer: a buzzer, a lamp and a button.
//
// A [Panel] plays [Sound] patterns, shows a [Light] and reports presses, short and long. It decides
// nothing: which sound belongs to which ticket is the core's business. A pin that is not configured
// or not there becomes a silent stand-in, so the daemon is the same with and without a panel.
//
//	hardware, err := panel.Open(panel.Pins{Buzzer: "GPIO17", Button: "GPIO22"})
//	p := panel.New(panel.Config{Hardware: hardware, Pressed: pressed, Log: log})
//	go func() { done <- p.Run(ctx) }()
//	p.Play(panel.SoundNew)
//
// The buzzer is an active one (it makes its own tone) behind a transistor. It cannot stay on: every
// step has a bound, a guard of its own turns it off when [OnMax] is over even if the player hangs,
// and every way out of Run turns it off. After a SIGKILL the kernel releases the line and its level
// is not ours any more: the circuit needs a pull-down (firmware/README.md).
//
// periph's traps, measured (research/appliance.md section 6), and what is done about them: it
// imports gpioioctl alone and calls driverreg.Init (host.Init breaks on a Pi 3); it finds lines by
// name on chips labelled pinctrl-* (numbers differ between models and kernels); it never reads an
// output (that makes it an input); it gives WaitForEdge positive time-outs in a loop (-1 returns at
// once); it takes an edge as "look now" and reads the level when it has settled (a burst of edges
// overflows the kernel's queue).
package panel
