const marker = Symbol.for("keyturn.protocol.MalformedMessage");

/**
 * Bytes from the other side that are not what the protocol says.
 *
 * `field` is the proto name of the field that is wrong (for T7: what the refusal has to name); `message` is fit
 * to be sent back to the client. It never means a fault of ours.
 */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
  readonly field: string;

  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
    Object.defineProperty(this, marker, { value: true });
  }

  /** Whether `value` is such an error, also when it was made by another copy of this package. */
  static isInstance(value: unknown): value is MalformedMessage {
    return typeof value === "object" && value !== null && marker in value;
  }
}
