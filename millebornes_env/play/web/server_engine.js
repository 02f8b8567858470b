// The engine of `python -m millebornes_env play`: every message goes to the server that the page came from.

let table = null;

/** The engine, an object with an async method for each message.
 * @param {{token: string}} config the content of engine.json. */
export async function createEngine(config) {
  table = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2);
  const call = (message) => (values = {}) => send(config.token, message, values);
  return {
    catalogue: call("catalogue"),
    rules: (edition, players, teams) => call("rules")({ edition, players, teams }),
    start: call("start"),
    load: call("load"),
    goto: (k) => call("goto")({ k }),
    save: call("save"),
    record: call("record"),
    position: (seat = null) => call("position")({ seat }),
    play: (action) => call("play")({ action }),
    undo: call("undo"),
    why_not: call("why_not"),
    log: call("log"),
    choose: call("choose"),
    think: call("think"),
  };
}

async function send(token, message, values) {
  let response;
  try {
    response = await fetch("engine", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Table-Token": token },
      body: JSON.stringify({ table, message, arguments: values }),
    });
  } catch {
    throw new Error("The server does not answer: start it again with “python -m millebornes_env play”, and reload this page. Your game is saved.");
  }
  const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if ("error" in answer) throw new Error(answer.error);
  return answer.result;
}
