// Package layout turns a kitchen ticket into a document: what a cook needs, largest first.
package layout
