/**
 * Pages without a browser: sessions of the built client, driven over standard input and output.
 *
 * A line in is [page, verb, ...]; a line out the same. The network is the test's: frames travel as
 * hex, and a socket opens, and breaks, when the test says so.
 */

import { createInterface } from "node:readline";

const { connect, SharedList, Text } = await import(process.argv[2]);
const pages = new Map();

function say(...words) {
  process.stdout.write(`${JSON.stringify(words)}\n`);
}

function begin(page) {
  const state = { socket: null, session: null, text: null, list: null, failed: [] };
  state.session = connect(["ws://one/", "ws://two/"], {
    openSocket: (url) => {
      const socket = { onopen: null, onmessage: null, onclose: null };
      socket.send = (data) => {
        if (state.socket === socket) say(page, "frame", Buffer.from(data).toString("hex"));
      };
      socket.close = () => {
        if (state.socket === socket) say(page, "closed");
        if (state.socket === socket) state.socket = null;
      };
      state.socket = socket;
      say(page, "connect", url);
      return socket;
    },
    random: () => 0,
  });
  const fail = (error) => state.failed.push(String(error));
  state.session.open(Text, "note").then((text) => {
    state.text = text;
    say(page, "opened", "note");
  }, fail);
  state.session.open(SharedList, "list").then((list) => {
    state.list = list;
    say(page, "opened", "list");
  }, fail);
  pages.set(page, state);
}

function edit(state, kind, at, count, word) {
  if (kind === "text") {
    const { length } = state.text;
    const from = at % (length + 1);
    const isInPair = /[\udc00-\udfff]/.test(state.text.value[from] ?? "");
    state.text.replace(from - (isInPair ? 1 : 0), 0, word);
    if (count > 0) state.text.set(state.text.value.slice(count));
    return;
  }
  const ids = state.list.items().map(([id]) => id);
  const [one, other] = [ids[at % ids.length], ids[count % ids.length]];
  const quiet = (promise) => promise.catch(() => undefined);
  if (one === undefined || kind === "insert") quiet(state.list.insert(word, one ?? null));
  else if (kind === "append") quiet(state.list.append(word));
  else if (kind === "set") quiet(state.list.set(one, word));
  else if (kind === "delete") quiet(state.list.delete(one));
  else quiet(state.list.move(one, other === one ? null : other));
}

const verbs = {
  begin: (page) => begin(page),
  open: (page) => pages.get(page).socket?.onopen(),
  frame: (page, hex) =>
    pages.get(page).socket?.onmessage({ data: new Uint8Array(Buffer.from(hex, "hex")) }),
  lose: (page) => {
    const { socket } = pages.get(page);
    pages.get(page).socket = null;
    socket?.onclose({ code: 1006 });
  },
  edit: (page, ...how) => edit(pages.get(page), ...how),
  look: (page) => {
    const { text, list, session, failed } = pages.get(page);
    const isQuiet = session.unanswered === 0 && !text.unconfirmed && !list.unconfirmed;
    say(page, "looks", isQuiet, text.value, list.items(), text.error?.code ?? null, failed);
  },
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [page, verb, ...rest] = JSON.parse(line);
    verbs[verb](page, ...rest);
  })
  .on("close", () => process.exit(0));
