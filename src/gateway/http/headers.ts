/**
 * On every answer: what it says it is, it is; where it was read is nobody's business; and no page of another origin takes it in.
 * Another port of this host is such a page, and a browser sends the session along with what that asks for.
 */
export const PLAIN_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};
