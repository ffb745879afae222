/** On every answer: what it says it is, it is; and where it was read is nobody's business. */
export const PLAIN_HEADERS = { "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer" };
