// Requests to the studio. Errors carry the library's message and its hint.

export class ApiError extends Error {
  constructor(message, hint, status) {
    super(message);
    this.hint = hint || "";
    this.status = status;
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new ApiError("The studio does not answer.", "is `veridical studio` still running in the terminal?", 0);
  }
  const text = await response.text();
  let data = null;
  try {
    data = JSON.parse(text);
  } catch { /* refusals of the guard are plain text */ }
  if (!response.ok) throw new ApiError(data?.error || text.trim() || "Something went wrong.", data?.hint, response.status);
  return data;
}

function query(parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

export const get = (path, parameters) => request(`/api/${path}${query(parameters)}`);
export const remove = (path) => request(`/api/${path}`, { method: "DELETE" });
export const post = (path, body) => request(`/api/${path}`, {
  method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
});
export const upload = (file) => request(`/api/upload${query({ name: file.name })}`, { method: "PUT", body: file });

// Runs `work` for the newest arguments only: while one runs, later calls replace each other, so a
// slider never waits behind answers nobody wants any more.
export function latest(work) {
  let running = false;
  let next = null;
  return async function call(...given) {
    if (running) {
      next = given;
      return;
    }
    running = true;
    try {
      await work(...given);
    } finally {
      running = false;
      if (next) {
        const again = next;
        next = null;
        call(...again);
      }
    }
  };
}
