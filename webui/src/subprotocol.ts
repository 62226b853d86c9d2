/** The name under which the page speaks to the nodes (docs/protocol-browser.md). */
export const SUBPROTOCOL = "groupcore.v1.msgpack";
