/** One request to the server, as all of them are sent: with the token, and nothing that the browser keeps. */
export function request(path, token, accept, { headers, ...options } = {}) {
  return fetch(path, {
    headers: { Accept: accept, ...(token ? { Authorization: `Bearer ${token}` } : {}), ...headers },
    cache: "no-store", credentials: "omit", redirect: "error", ...options,
  });
}

/**
 * Whether an answer says that the server refuses the query itself, so that to ask again is of no use.
 *
 * Only the server writes problem details. A proxy in between answers with a page of its own, whatever the status, while
 * the server behind it starts again or is replaced.
 */
export function isFinal(response) {
  return response.status === 400 && response.headers.get("Content-Type") === "application/problem+json";
}
