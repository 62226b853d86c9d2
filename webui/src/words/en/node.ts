export default {
  nodeStale:
    "This server cannot reach the others right now. You can go on: what you write is kept in this browser, and is sent as soon as a server can take it.",
  nodeFull:
    "The disk of this server is full. You can read, and what you write is kept in this browser until there is room again.",
  nodeLeaving: "This server is being switched off. The page goes on at another one by itself.",
  nodeBeginning:
    "This server is still catching up with the others. What you write is kept in this browser until it has.",
};
