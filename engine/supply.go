package engine

// This is where slots come from when a P's own stack is empty: another stack, or
// the fresh end of the table. Both move several slots at once.

// steal moves up to batch slots from another stripe to st and returns one of them.
func (f *freelist[T]) steal(st *stripe[T]) (*slot[T], uint32) {
	for k := range f.stripes {
		victim := f.stripes[k].Load()
		if victim == nil || victim == st || topOf(victim.head.Load()) == 0 {
			continue
		}
		if s, i := f.stealFrom(victim, st); s != nil {
			return s, i
		}
	}
	return nil, 0
}

func (f *freelist[T]) stealFrom(victim, st *stripe[T]) (*slot[T], uint32) {
	f.moving.Add(1)
	defer f.moving.Add(-1)
	for {
		head := victim.head.Load()
		top := topOf(head)
		if top == 0 {
			return nil, 0
		}
		// Walk down the stack. What is read is only trusted once the head is
		// swapped: its tag proves that no slot below it was popped meanwhile.
		first := f.table.slot(top - 1)
		second := first.load().next()
		last, below := first, second
		for n := 1; n < batch && below != 0; n++ {
			s := f.table.slot(below - 1)
			if s == nil {
				break
			}
			last, below = s, s.load().next()
		}
		if victim.head.CompareAndSwap(head, poppedTo(head, below)) {
			if last != first {
				f.push(st, second-1, last)
			}
			return first, top - 1
		}
	}
}

// fill takes up to batch fresh slots, puts all but one on st and returns that.
func (f *freelist[T]) fill(st *stripe[T]) (*slot[T], uint32) {
	f.moving.Add(1)
	defer f.moving.Add(-1)
	var from, n uint32
	for {
		from = f.fresh.Load()
		limit := f.limit()
		if from >= limit {
			return nil, 0
		}
		n = min(batch, limit-from)
		if f.fresh.CompareAndSwap(from, from+n) {
			break
		}
	}
	if int(from+n) > f.table.slots() {
		f.table.grow(from+n, from)
	}
	if f.runsLow(from+n) && f.table.ahead.CompareAndSwap(false, true) {
		go f.growAhead()
	}
	var last *slot[T]
	for i := from + 1; i < from+n; i++ {
		last = f.table.slot(i)
		last.store(makeWord(0, 0, free).withNext(i + 2))
	}
	if last != nil {
		f.push(st, from+1, last)
	}
	return f.table.slot(from), from
}

// limit is how many slots may be handed out: the bound, and one for each retired.
func (f *freelist[T]) limit() uint32 { return min(f.bound+f.retired.Load(), f.slotsMax) }

// empty reports whether at some moment during the call no slot was free, fresh or
// being moved: two looks found every stack empty and no pop between them. Tags
// only rise, so equal sums are equal heads.
func (f *freelist[T]) empty() bool {
	if f.fresh.Load() < f.limit() {
		return false
	}
	first, ok := f.look()
	if !ok || f.moving.Load() != 0 {
		return false
	}
	second, ok := f.look()
	return ok && first == second
}

// look sums the heads up; false when one of the stacks is not empty.
func (f *freelist[T]) look() (sum uint64, ok bool) {
	for k := range f.stripes {
		if st := f.stripes[k].Load(); st != nil {
			head := st.head.Load()
			if topOf(head) != 0 {
				return 0, false
			}
			sum += head >> tagShift
		}
	}
	return sum, true
}
