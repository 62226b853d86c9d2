/**
 * Pages of the built client that type, for `python -m bench slowing`: frames go over standard input and
 * output, each with the time at which the page has sent it.
 *
 * In: [page, "begin"], [page, "open"], [page, "frame", hex], [page, "type", keys a second, keys].
 * Out: [page, "connect"], [page, "frame", hex, ms], [page, "opened"], [page, "typed"], [page, "saved", ms].
 */

import { createInterface } from "node:readline";

const { connect, Text } = await import(process.argv[2]);
const pages = new Map();
const POLL_MS = 10;

function say(...words) {
  process.stdout.write(`${JSON.stringify(words)}\n`);
}

function begin(page) {
  const state = { socket: null, session: null, text: null };
  state.session = connect(["ws://one/"], {
    openSocket: () => {
      const socket = { onopen: null, onmessage: null, onclose: null };
      socket.send = (data) => say(page, "frame", Buffer.from(data).toString("hex"), Date.now());
      socket.close = () => undefined;
      state.socket = socket;
      say(page, "connect");
      return socket;
    },
  });
  state.session.open(Text, `note${page}`).then((text) => {
    state.text = text;
    say(page, "opened");
  });
  pages.set(page, state);
}

function type(page, rate, keys) {
  const { session, text } = pages.get(page);
  let left = keys;
  const timer = setInterval(() => {
    text.replace(text.length, 0, "x");
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    const ended_ms = Date.now();
    say(page, "typed");
    const waiting = setInterval(() => {
      if (session.unanswered > 0 || text.unconfirmed) return;
      clearInterval(waiting);
      say(page, "saved", Date.now() - ended_ms);
    }, POLL_MS);
  }, 1000 / rate);
}

const verbs = {
  begin,
  open: (page) => pages.get(page).socket.onopen(),
  frame: (page, hex) => pages.get(page).socket.onmessage({ data: new Uint8Array(Buffer.from(hex, "hex")) }),
  type,
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [page, verb, ...rest] = JSON.parse(line);
    verbs[verb](page, ...rest);
  })
  .on("close", () => process.exit(0));
