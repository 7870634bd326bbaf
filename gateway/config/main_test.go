package config_test

import (
	"testing"

	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func TestMain(m *testing.M) { fake.Main(m) }
