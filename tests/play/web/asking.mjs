// What tests ask of the page's engine, in Node and in a browser.

/** What an engine says to a list of [method, ...arguments]: the last answer, or what it complained about. */
async function answers(engine, calls) {
  const found = [];
  for (const [method, ...given] of calls) {
    try {
      found.push(await engine[method](...given));
    } catch (error) {
      found.push({ error: error.message, name: error.name });
    }
  }
  return found;
}

/** The text of every position of a record. */
async function positions(engine, { text }) {
  const { positions: count } = await engine.load({ text });
  const found = [];
  for (let place = 0; place < count; place++) {
    await engine.goto(place);
    found.push((await engine.save()).text);
  }
  return found;
}

/** A game that agents play; its record, and what the page would show at the end. */
async function played(engine, { start, agents }) {
  let position = await engine.start(start);
  while (!position.match_over) {
    const agent = agents[position.to_act % agents.length];
    const { action } = position.over ? { action: -1 } : await engine.choose({ agent });
    position = await engine.play(action);
  }
  return { text: (await engine.record()).text, position };
}

/** How many tables the engine holds after each of some lists of calls, and the answers. */
async function held(engine, lists) {
  const found = [];
  for (const calls of lists) {
    const said = await answers(engine, calls);
    found.push({ rooms: engine.rooms.size, said });
  }
  return found;
}

/** The names of the files that the engine loads for some calls. */
async function loaded(engine, calls) {
  const { read } = engine;
  const names = [];
  engine.read = (name) => (names.push(name), read(name));
  await answers(engine, calls);
  engine.read = read;
  return names;
}

/** What the engine answers twice, if the files that it asks for do not come the first time. */
async function failing(engine, calls) {
  const { read } = engine;
  engine.read = async (name) => {
    throw new Error(`${name} does not come`);
  };
  const first = await answers(engine, calls);
  engine.read = read;
  return [first, await answers(engine, calls)];
}

const doing = { answers, positions, played, held, loaded, failing };

/** What the engine answers to each of a list of [what is asked, with what]. */
export async function answer(engine, asked) {
  const found = [];
  for (const [what, given] of asked) found.push(await doing[what](engine, given));
  return found;
}
