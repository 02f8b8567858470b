// The compiled kernels of the game, called from JavaScript.
//
// `engine.json` lists the 64-bit words that each kernel takes: a number is one word, a record its address, an array
// nine words or more (0, 0, number of elements, bytes of one, address, shape, strides), a tuple its members.
// The module's memory may grow, so views of it are created for each use.

const PAGE = 65536;
const ALIGNED = 64;
const FORMAT = 1;

const TYPES = {
  i1: [1, Int8Array],
  b1: [1, Uint8Array],
  i2: [2, Int16Array],
  i4: [4, Int32Array],
  i8: [8, BigInt64Array],
  f4: [4, Float32Array],
  f8: [8, Float64Array],
};

/** An error of a caller or a file; the message is a sentence for the user. */
export class EngineError extends Error {
  constructor(message) {
    super(message);
    this.name = "EngineError";
  }
}

/** An array in the module's memory: of numbers, or of records (`type` is then "record"). */
class KernelArray {
  constructor(kernels, address, type, shape, itemsize) {
    this.kernels = kernels;
    this.address = address;
    this.type = type;
    this.shape = shape;
    this.itemsize = itemsize;
    this.size = shape.reduce((product, length) => product * length, 1);
  }

  /** The numbers, as a view of the current memory. */
  get view() {
    const kind = TYPES[this.type][1];
    return new kind(this.kernels.memory.buffer, this.address, this.size);
  }

  /** All bytes, as a view of the current memory. */
  get bytes() {
    return new Uint8Array(this.kernels.memory.buffer, this.address, this.size * this.itemsize);
  }

  /** The words that pass the array to a kernel. */
  words() {
    const strides = [];
    let stride = this.itemsize;
    for (const length of [...this.shape].reverse()) {
      strides.unshift(stride);
      stride *= length;
    }
    return [0, 0, this.size, this.itemsize, this.address, ...this.shape, ...strides];
  }
}

/** One record in the module's memory, its fields by name. */
export class KernelRecord {
  constructor(array, layout, number = 0) {
    this.array = array;
    this.layout = layout;
    this.address = array.address + number * layout.size;
  }

  /** Numbers of a field, as a view of the current memory; `index` is in C order, for fields that are arrays. */
  view(field, index = 0, length = 1) {
    const [offset, type] = this.layout.fields[field];
    const [size, kind] = TYPES[type];
    return new kind(this.array.kernels.memory.buffer, this.address + offset + index * size, length);
  }

  get(field, index = 0) {
    return Number(this.view(field, index)[0]);
  }

  set(field, index, value) {
    const view = this.view(field, index);
    view[0] = view instanceof BigInt64Array ? BigInt(value) : value;
  }

  /** Count one more. */
  add(field, index) {
    this.set(field, index, this.get(field, index) + 1);
  }

  /** One row of a field with two dimensions, or a field with one: its numbers. */
  row(field, number = 0) {
    const length = this.layout.fields[field][2].at(-1);
    return Array.from(this.view(field, number * length, length), Number);
  }
}

/** An instance of the module: its memory, and its kernels by their names. Arrays are freed with the instance. */
export class Kernels {
  constructor(module, data) {
    const env = { expf: Math.exp, tanhf: Math.tanh }; // of float32: their results are rounded
    this.module = module;
    this.data = data;
    this.exports = new WebAssembly.Instance(module, { env }).exports;
    this.memory = this.exports.memory;
    this.end = this.exports.__heap_base.value; // of what is allocated
  }

  /** The same kernels with a memory of their own. */
  apart() {
    return new Kernels(this.module, this.data);
  }

  /**
   * Load the engine.
   * @param {function(string): Promise<Uint8Array>} read - returns the bytes of a file by its name.
   */
  static async load(read) {
    if (typeof WebAssembly !== "object") {
      throw new EngineError("This browser has no WebAssembly, which the game needs: use a newer browser.");
    }
    let data;
    try {
      data = JSON.parse(new TextDecoder().decode(await read("engine.json")));
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(`The file engine.json of the game cannot be read (${error.message}); build it with make web.`);
    }
    if (data.format !== FORMAT) {
      throw new EngineError(`The game's engine is of format ${data.format}, and this page reads ${FORMAT}: reload the page.`);
    }
    const bytes = await read("engine.wasm");
    if (!WebAssembly.validate(bytes)) {
      throw new EngineError("This browser cannot run the game: its WebAssembly lacks 128-bit vectors, or engine.wasm is damaged.");
    }
    return new Kernels(await WebAssembly.compile(bytes), data);
  }

  /** Allocate a zeroed array; `type` is NumPy's letter and bytes ("i1", "f4"). */
  array(type, ...shape) {
    return this._allocated(type, shape, TYPES[type][0]);
  }

  /**
   * The weights of a network as kernels read them, float32.
   *
   * @param {Uint8Array} bytes - the biases and the scales of the rows of each layer (float32), then its rows (8 bits).
   * @param {number[][]} layers - of each layer: numbers of biases, rows, and columns.
   */
  weights(bytes, layers) {
    const floats = layers.reduce((sum, [biases, rows]) => sum + biases + rows, 0);
    const read = new Float32Array(bytes.slice(0, 4 * floats).buffer);
    const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + 4 * floats);
    const weights = this.array("f4", layers.reduce((sum, [biases, rows, width]) => sum + biases + rows * width, 0));
    const placed = weights.view;
    let from = 0, number = 0, at = 0;
    for (const [biases, rows, width] of layers) {
      for (let bias = 0; bias < biases; bias++) placed[at++] = read[from++];
      for (let row = 0; row < rows; row++, from++) {
        for (let column = 0; column < width; column++) placed[at++] = read[from] * numbers[number++];
      }
    }
    return weights;
  }

  /** Zeroed records of a layout of `data.records`. */
  records(layout, count) {
    return this._allocated("record", [count], this.data.records[layout].size);
  }

  _allocated(type, shape, itemsize) {
    const address = Math.ceil(this.end / ALIGNED) * ALIGNED;
    this.end = address + shape.reduce((product, length) => product * length, itemsize);
    const missing = this.end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    return new KernelArray(this, address, type, shape, itemsize);
  }

  /** The address of an agent's function, for kernels. */
  functionAddress(name) {
    return Number(this.exports[`mb_address_of_${name}`]());
  }

  /**
   * A kernel with its arguments written once: numbers, arrays, records, and tuples as JavaScript arrays.
   * @returns a function that calls it; its own arguments are new numbers for the places that `changing` names.
   */
  prepare(name, given, changing = []) {
    const how = this.data.kernels[name];
    const words = this.array("i8", how.words);
    const flat = [];
    how.parameters.forEach((parameter, number) => this._flatten(parameter, given[number], flat));
    words.view.set(flat.map(BigInt), how.result_words);
    const places = changing.map((number) => how.places[number]);
    const call = this.exports[`mb_${name}`];
    return (...numbers) => {
      let view = words.view;
      numbers.forEach((number, at) => (view[places[at]] = BigInt(number)));
      if (call(words.address) !== 0) throw new EngineError(`The game's engine failed in ${name}: reload the page.`);
      view = words.view;
      if (how.result_words === 1) return Number(view[0]);
      return Array.from(view.subarray(0, how.result_words), Number);
    };
  }

  _flatten(parameter, value, flat) {
    const [kind, ...details] = parameter;
    if (kind === "int") flat.push(value);
    else if (kind === "record") flat.push(value.address);
    else if (kind === "array") flat.push(...value.words());
    else details[0].forEach((member, number) => this._flatten(member, value[number], flat));
  }
}

/** A built file, from the folder `engine` beside this one. */
export async function fetched(name) {
  const address = new URL(`engine/${name}`, import.meta.url);
  let answer;
  try {
    answer = await fetch(address);
  } catch (error) {
    throw new EngineError(`${name} of the game cannot be loaded (${error.message}): reload the page.`);
  }
  if (!answer.ok) throw new EngineError(`${name} of the game is missing (${answer.status}); build it with make web.`);
  return new Uint8Array(await answer.arrayBuffer());
}
