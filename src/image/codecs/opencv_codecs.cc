namespace attnmap {}
