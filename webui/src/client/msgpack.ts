/**
 * MessagePack, as much of it as the protocol speaks: nil, booleans, numbers, text, bytes, lists and
 * maps with text for keys. Extensions and integers that a number cannot hold exactly are refused.
 *
 * Source: https://github.com/msgpack/msgpack/blob/master/spec.md
 */

const FIRST_BYTES = 1_024;
/** Shorter texts are read letter by letter, which is faster while they are ASCII. */
const SHORT_BYTES = 24;
const TWO_32 = 2 ** 32;

const texts = new TextEncoder();
const words = new TextDecoder("utf-8", { ignoreBOM: true });

/** The value as bytes; fields of maps that are undefined are left out. TypeError: it has none. */
export function encode(value: unknown): Uint8Array<ArrayBuffer> {
  const writer = new Writer();
  writer.value(value);
  return writer.written();
}

/** The value that the bytes are, all of them. RangeError, TypeError: they are none. */
export function decode(data: ArrayBuffer | ArrayBufferView): unknown {
  const reader = new Reader(
    ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data),
  );
  const value = reader.value();
  if (!reader.isAtEnd) throw new RangeError("bytes follow the value");
  return value;
}

class Writer {
  private bytes = new Uint8Array(FIRST_BYTES);
  private view = new DataView(this.bytes.buffer);
  private at = 0;

  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at);
  }

  value(value: unknown): void {
    if (value === null || value === undefined) this.byte(0xc0);
    else if (typeof value === "boolean") this.byte(value ? 0xc3 : 0xc2);
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "string") this.text(value);
    else if (Array.isArray(value)) this.list(value);
    else if (value instanceof Uint8Array) this.binary(value);
    else if (typeof value === "object") this.map(value);
    else throw new TypeError(`a ${typeof value} cannot be sent`);
  }

  /** The place of so many new bytes. */
  private take(count: number): number {
    const start = this.at;
    this.at += count;
    if (this.at > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.at, 2 * this.bytes.length));
      grown.set(this.bytes);
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
    return start;
  }

  private byte(byte: number): void {
    const at = this.take(1);
    this.bytes[at] = byte;
  }

  /** A length or an unsigned number of 1, 2 or 4 bytes, behind the first of these heads that fits. */
  private size(size: number, one: number | null, two: number, four: number): void {
    if (one !== null && size < 0x100) {
      this.byte(one);
      this.byte(size);
    } else if (size < 0x10000) {
      this.byte(two);
      const at = this.take(2);
      this.view.setUint16(at, size);
    } else {
      this.byte(four);
      const at = this.take(4);
      this.view.setUint32(at, size);
    }
  }

  private number(value: number): void {
    if (!Number.isSafeInteger(value)) {
      this.byte(0xcb);
      const at = this.take(8);
      this.view.setFloat64(at, value);
    } else if (value >= -0x20 && value < 0x80) this.byte(value & 0xff);
    else if (value >= 0 && value < TWO_32) this.size(value, 0xcc, 0xcd, 0xce);
    else if (value >= -0x80 && value < 0) {
      this.byte(0xd0);
      this.byte(value & 0xff);
    } else if (value >= -0x8000 && value < 0) {
      this.byte(0xd1);
      const at = this.take(2);
      this.view.setInt16(at, value);
    } else if (value >= -0x80000000 && value < 0) {
      this.byte(0xd2);
      const at = this.take(4);
      this.view.setInt32(at, value);
    } else {
      this.byte(value < 0 ? 0xd3 : 0xcf);
      const at = this.take(8);
      this.view.setInt32(at, Math.floor(value / TWO_32));
      this.view.setUint32(at + 4, value >>> 0);
    }
  }

  private text(text: string): void {
    const bytes = texts.encode(text);
    if (bytes.length < 0x20) this.byte(0xa0 | bytes.length);
    else this.size(bytes.length, 0xd9, 0xda, 0xdb);
    this.raw(bytes);
  }

  private binary(bytes: Uint8Array): void {
    this.size(bytes.length, 0xc4, 0xc5, 0xc6);
    this.raw(bytes);
  }

  private raw(bytes: Uint8Array): void {
    const at = this.take(bytes.length);
    this.bytes.set(bytes, at);
  }

  private list(list: readonly unknown[]): void {
    if (list.length < 0x10) this.byte(0x90 | list.length);
    else this.size(list.length, null, 0xdc, 0xdd);
    for (const value of list) this.value(value);
  }

  private map(map: object): void {
    const fields = Object.entries(map).filter(([, value]) => value !== undefined);
    if (fields.length < 0x10) this.byte(0x80 | fields.length);
    else this.size(fields.length, null, 0xde, 0xdf);
    for (const [name, value] of fields) {
      this.text(name);
      this.value(value);
    }
  }
}

class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  value(): unknown {
    const head = this.view.getUint8(this.take(1));
    if (head < 0x80) return head;
    if (head < 0x90) return this.map(head & 0x0f);
    if (head < 0xa0) return this.list(head & 0x0f);
    if (head < 0xc0) return this.text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this.headed(head);
  }

  /** What has a head of its own. */
  private headed(head: number): unknown {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return head === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.binary(this.unsigned(head - 0xc4));
      case 0xca:
        return this.view.getFloat32(this.take(4));
      case 0xcb:
        return this.view.getFloat64(this.take(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.unsigned(head - 0xcc);
      case 0xcf:
      case 0xd3:
        return this.long(head === 0xd3);
      case 0xd0:
        return this.view.getInt8(this.take(1));
      case 0xd1:
        return this.view.getInt16(this.take(2));
      case 0xd2:
        return this.view.getInt32(this.take(4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.unsigned(head - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.list(this.unsigned(head - 0xdb));
      case 0xde:
      case 0xdf:
        return this.map(this.unsigned(head - 0xdd));
      default:
        throw new TypeError(`nothing of the protocol begins with ${head}`);
    }
  }

  /** The place of the next so many bytes. */
  private take(count: number): number {
    const start = this.at;
    if (start + count > this.bytes.length) throw new RangeError("the bytes end too early");
    this.at += count;
    return start;
  }

  /** An unsigned number of 1, 2 or 4 bytes: 2 to that power. */
  private unsigned(power: number): number {
    if (power === 0) return this.view.getUint8(this.take(1));
    if (power === 1) return this.view.getUint16(this.take(2));
    return this.view.getUint32(this.take(4));
  }

  private long(isSigned: boolean): number {
    const at = this.take(8);
    const high = isSigned ? this.view.getInt32(at) : this.view.getUint32(at);
    const value = high * TWO_32 + this.view.getUint32(at + 4);
    if (!Number.isSafeInteger(value)) throw new RangeError("a number is too large");
    return value;
  }

  private text(size: number): string {
    const start = this.take(size);
    if (size > SHORT_BYTES) return words.decode(this.bytes.subarray(start, this.at));
    let text = "";
    for (let at = start; at < this.at; at += 1) {
      const code = this.bytes[at] as number;
      if (code >= 0x80) return words.decode(this.bytes.subarray(start, this.at));
      text += String.fromCharCode(code);
    }
    return text;
  }

  private binary(size: number): Uint8Array {
    const start = this.take(size);
    return this.bytes.slice(start, this.at);
  }

  private list(length: number): unknown[] {
    const list: unknown[] = [];
    for (let at = 0; at < length; at += 1) list.push(this.value());
    return list;
  }

  private map(size: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (let at = 0; at < size; at += 1) {
      const name = this.value();
      // As a key it would change what the map is.
      if (typeof name !== "string" || name === "__proto__") {
        throw new TypeError("a map has a key that is no name");
      }
      map[name] = this.value();
    }
    return map;
  }
}
