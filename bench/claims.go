package bench

import (
	"github.com/correlator-go/correlator/bench/claim"
)

// Claims lists every performance claim of the project.
func Claims() []claim.Claim {
	var all []claim.Claim
	for _, area := range [][]claim.Claim{
		windowClaims(),
	} {
		all = append(all, area...)
	}
	return all
}

// Roles are what the check program's children do.
func Roles() map[string]claim.Role {
	return map[string]claim.Role{
		"table": tableRole,
	}
}
