package codec

// chunk is a pooled buffer that frames are cut from.
type chunk struct{}
