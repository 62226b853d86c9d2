export default {
  nodeStale:
    "This server cannot reach the others right now. You can go on: what you write is kept in this browser, and is sent as soon as a server can take it.",
  nodeFull:
    "The disk of this server is full. You can read, and what you write is kept in this browser until there is room again.",
  nodeLeaving: "This server is being switched off. The page goes on at another one by itself.",
  nodeBeginning:
    "This server is still catching up with the others. What you write is kept in this browser until it has.",
  awaited: (nodes: string, since: string) => `The servers have waited for ${nodes} since ${since}.`,
  awaitedKept:
    "You can read what is here. What you write is kept in this browser, and is sent by itself when they go on.",
  awaitedTell:
    "Tell the people who run the servers. They can start the ones that are missing, or have the others go on without them.",
};
