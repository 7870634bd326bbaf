package bench

import (
	"github.com/correlator-go/correlator/bench/claim"
)

// Claims lists every performance claim of the project.
func Claims() []claim.Claim {
	var all []claim.Claim
	for _, area := range [][]claim.Claim{
		windowClaims(), waitClaims(), deadlineClaims(), memoryClaims(), leaverClaims(), codecClaims(), connClaims(), slowClaims(), loadClaims(), mcpClaims(), serveClaims(),
		coresClaims(), featureClaims(),
	} {
		all = append(all, area...)
	}
	return all
}

// Roles are what the check program's children do.
func Roles() map[string]claim.Role {
	return map[string]claim.Role{
		"table":      tableRole,
		"memory":     memoryRole,
		"growth":     growthRole,
		"idle":       idleRole,
		"flat":       flatRole,
		"failall":    failAllRole,
		"leaver":     leaverRole,
		"timers":     timersRole,
		"deadline":   deadlineRole,
		"storm":      stormRole,
		"lateness":   latenessRole,
		"wake":       wakeRole,
		"decode":     decodeRole,
		"encode":     encodeRole,
		"splice":     spliceRole,
		"framing":    framingRole,
		"pool":       poolRole,
		"stop":       stopRole,
		"echo":       echoRole,
		"slow":       slowRole,
		"conn":       connRole,
		"load":       loadRole,
		"step":       stepRole,
		"report":     reportRole,
		"tools":      toolsRole,
		"hostile":    hostileRole,
		"neighbours": neighboursRole,
		"cores":      coresRole,
		"calls":      callsRole,
		"feature":    featureRole,
	}
}
