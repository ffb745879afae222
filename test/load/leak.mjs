// Loaded into a gateway before anything else: it keeps more and more, as a cache without a bound would.
const kept = [];
setInterval(() => kept.push(Buffer.alloc(4 * 1024 * 1024, 1)), 100).unref();
