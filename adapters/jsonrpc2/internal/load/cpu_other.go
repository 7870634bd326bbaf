//go:build !unix

package load

import "time"

// cpu is not known here.
func cpu() time.Duration { return 0 }
