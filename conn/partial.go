package conn

// PartialFree is how many bytes of a frame that is not whole a connection may hold
// without asking Options.Partial: as many as it reads at once.
const PartialFree = 64 << 10

// partial accounts for what a connection holds of a frame that is not whole.
type partial struct {
	ask  func(bytes int64) error
	read int64 // since the last whole frame
	held int64 // what was asked for
	most int64 // that the codec keeps of one frame; zero is DefaultMaxFrame, negative no bound
}

// more notes that n bytes were read.
func (p *partial) more(n int) error {
	p.read += int64(n)
	most := p.most
	if most == 0 {
		most = DefaultMaxFrame
	}
	need := p.read - PartialFree - p.held
	if most > 0 {
		need = min(p.read, most) - PartialFree - p.held
	}
	if need <= 0 {
		return nil
	}
	if err := p.ask(need); err != nil {
		return err
	}
	p.held += need
	return nil
}

// whole notes that the frame is whole, or will never be.
func (p *partial) whole() {
	p.read = 0
	if p.held > 0 {
		_ = p.ask(-p.held) // giving back is never refused
		p.held = 0
	}
}
