/** Where pictures stand in the text until a node has them: loaded with the first upload. */

import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { KEPT_IDS } from "../editor/normalise";
import { blockType } from "../editor/schema";
import { ALONE } from "../editor/undoing";
import { withWords } from "../words/language";
import type { CardActs, UploadCard } from "./card";
import { placeAt } from "./plugin";
import type { StoredPicture } from "./sending";
import type { Upload } from "./uploads";

interface Place {
  readonly id: string;
  readonly position: number;
}

interface Change {
  readonly put?: Place;
  readonly drop?: string;
}

const KEY = new PluginKey<readonly Place[]>("pictures");

/** What a person may do with one on its way. */
export interface UploadActs {
  readonly retry: (id: string) => void;
  readonly cancel: (id: string) => void;
}

export class Standing {
  /** What is on its way; the cards that show it come with the first. */
  private readonly cards = new Map<string, { upload: Upload; card: UploadCard | null }>();
  private readonly plugin = new Plugin<readonly Place[]>({
    key: KEY,
    state: {
      init: () => [],
      apply: (transaction, before) => {
        const { put, drop } = (transaction.getMeta(KEY) ?? {}) as Change;
        const { mapping } = transaction;
        const kept = before.filter(({ id }) => id !== drop);
        const moved = transaction.docChanged
          ? kept.map(({ id, position }) => ({ id, position: mapping.map(position) }))
          : kept;
        return put === undefined ? moved : [...moved, put];
      },
    },
    props: { decorations: (state) => this.decorations(state) },
  });

  /** `view`: the editor's, null while there is none. */
  constructor(
    private readonly view: () => EditorView | null,
    private readonly acts: UploadActs,
  ) {}

  /** Shows a file that is to become a block behind that one. */
  begun(upload: Upload, behind: string): void {
    const view = this.view();
    if (view === null) return;
    if (KEY.getState(view.state) === undefined) {
      const plugins = [...view.state.plugins, this.plugin];
      view.updateState(view.state.reconfigure({ plugins }));
    }
    const { id } = upload;
    this.cards.set(id, { upload, card: null });
    this.tell({ put: { id, position: positionBehind(view.state.doc, behind) } });
    withWords(import("./card"), "uploads").then(
      ({ UploadCard }) => {
        const one = this.cards.get(id);
        if (!one) return;
        const acts: CardActs = {
          retry: () => this.acts.retry(id),
          cancel: () => this.acts.cancel(id),
        };
        one.card = new UploadCard(one.upload, acts);
        this.tell({});
      },
      () => undefined, // it is sent all the same
    );
  }

  changed(upload: Upload): void {
    const one = this.cards.get(upload.id);
    if (!one) return;
    one.upload = upload;
    one.card?.show(upload);
  }

  /** It becomes a block, or goes. */
  ended(id: string, stored: StoredPicture | null): void {
    const view = this.view();
    const standing =
      view === null ? undefined : KEY.getState(view.state)?.find((one) => one.id === id);
    this.cards.get(id)?.card?.end();
    this.cards.delete(id);
    if (view === null || standing === undefined) return;
    if (stored === null) {
      this.tell({ drop: id });
      return;
    }
    const { picture, width, height } = stored;
    const node = blockType.create({ id, type: "image", picture, width, height });
    const position = placeAt(view.state, standing.position);
    const transaction = view.state.tr.insert(position, node);
    // Below the last picture one can write on.
    const end = position + node.nodeSize;
    if (end === transaction.doc.content.size) transaction.insert(end, blockType.create());
    // To put it in is one step back, and nothing that was typed before or behind it.
    transaction.setMeta(KEY, { drop: id }).setMeta(KEPT_IDS, [id]);
    view.dispatch(transaction.setMeta(ALONE, true));
  }

  private tell(change: Change): void {
    const view = this.view();
    view?.dispatch(view.state.tr.setMeta(KEY, change));
  }

  private decorations(state: EditorState): DecorationSet {
    const standing = KEY.getState(state) ?? [];
    const options = { side: -1, stopEvent: () => true, ignoreSelection: true };
    const widgets = standing.flatMap(({ id, position }) => {
      const card = this.cards.get(id)?.card;
      if (!card) return [];
      return [Decoration.widget(placeAt(state, position), card.dom, { ...options, key: id })];
    });
    return DecorationSet.create(state.doc, widgets);
  }

  /** The editor is gone. */
  close(): void {
    for (const { card } of this.cards.values()) card?.end();
    this.cards.clear();
  }
}

function positionBehind(doc: Node, behind: string): number {
  let found = behind === "" ? 0 : doc.content.size;
  doc.forEach((node, offset) => {
    if (node.attrs.id === behind) found = offset + node.nodeSize;
  });
  return found;
}
