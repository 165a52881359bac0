/** Sends a request with the token and without cookies, caches, and redirects. */
export function request(path, token, accept, { headers, ...options } = {}) {
  return fetch(path, {
    headers: { Accept: accept, ...(token ? { Authorization: `Bearer ${token}` } : {}), ...headers },
    cache: "no-store", credentials: "omit", redirect: "error", ...options,
  });
}

/**
 * Whether the server refuses the query itself, so that repeating it is useless.
 *
 * Only the server writes problem details; a proxy may answer with its own page and any status while the server behind
 * it restarts or is replaced.
 */
export function isFinal(response) {
  return response.status === 400 && response.headers.get("Content-Type") === "application/problem+json";
}
