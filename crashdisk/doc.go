// Package crashdisk cuts the power under the two files that hold Chit's promise, the device's
// journal and the broker's store, and looks at what is left.
//
// A [Disk] is a FUSE file that a loop device and a real ext4 stand on. It has a volatile write
// cache: it logs every write and every flush, and every word that the programs above it give to
// the outside ("stored", "printed", "accepted"), in the order in which they came. From the log any
// number of power cuts are made afterwards: what was flushed before the cut is there, later
// writes survive as none of them, as a random subset, or torn at sectors of 512 bytes
// (research/appliance.md section 3). Each [Image] is mounted, so the kernel replays its own
// journal, and the programs' own start-up code opens what it finds.
//
//	go test ./crashdisk                            1,000 cuts
//	go test ./crashdisk -crashdisk.states=20000    more of them: make powercut
//	go test ./crashdisk -crashdisk.seed=7          other cuts
//
// A recording is as the kernel's threads made it, so no two are alike; the cuts in one follow from
// the seed alone. An image that broke a promise is kept, and its path is in the message.
//
// What it cannot show: a disk that says that it flushed and did not, and a card whose controller
// loses sectors that were written long ago. The tests do the first on purpose, to prove that they
// would see it.
//
// It needs root, /dev/fuse, /dev/loop-control and mkfs.ext4; see [Missing]. All mounts are made in
// a mount namespace of the tests' own ([Private]): when the last of its processes ends, however
// it ends, they are gone, and the loop devices with them.
package crashdisk
