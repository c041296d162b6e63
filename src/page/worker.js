// Behind the page: takes questions one by one and sends back what the program answers.
const printed = [];
const program = swizproof({print: line => printed.push(line), printErr: line => printed.push(line)});
const about = module => ({
  version: module.version(),
  architectures: module.architectures(),
  patterns: JSON.parse(module.answer(['accesses']).document).accesses.map(access => access.name),
});
program.then(module => postMessage({about: about(module)}), error => postMessage({failure: String(error)}));

const kinds = {
  // The document with --json, or the picture of --html=-.
  answer: (module, words) => module.answer(words),
  // What the program prints.
  print: (module, words) => {
    printed.length = 0;
    const exit_code = module.run(words);
    return {exit_code, text: printed.join('\n')};
  },
  // A file of the page: its name and its bytes.
  take: (module, [name, bytes]) => module.take_file(name, bytes),
};

onmessage = async ({data: {id, kind, words}}) => {
  const module = await program;
  try {
    postMessage({id, reply: kinds[kind](module, words)});
  } catch (error) {  // out of memory or stack: this instance is of no use any more
    postMessage({id, failure: String(error && error.message || error)});
  }
};
