import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy on a port of its own that can cut what goes through it. Close it in the end. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  /** Connections taken so far. */
  readonly connections: number;
  /** Where new connections lead. */
  target: string;
  /** Resets every connection, both ways. */
  cut(): void;
  /** Cuts everything as soon as so many bytes have come from the server, counted from now; once. */
  cutAfterBytes(sizeBytes: number): void;
  /** New connections are refused, or taken again. */
  setOpen(isOpen: boolean): void;
}

/** Starts a proxy to a server. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isOpen = true;
  let connections = 0;
  let bytesLeft = Number.POSITIVE_INFINITY;
  const cut = (): void => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    pairs.clear();
  };
  const server = createServer((near) => {
    connections += 1;
    near.on("error", () => near.destroy());
    if (!isOpen) return void near.resetAndDestroy();
    const { hostname, port } = new URL(proxy.target);
    const far = connect(Number(port), hostname);
    far.on("error", () => near.resetAndDestroy());
    const pair = [near, far] as const;
    pairs.add(pair);
    near.on("data", (chunk) => void far.write(chunk));
    far.on("data", (chunk) => {
      if (chunk.length < bytesLeft) {
        bytesLeft -= chunk.length;
        near.write(chunk);
        return;
      }
      const head = chunk.subarray(0, bytesLeft);
      bytesLeft = Number.POSITIVE_INFINITY;
      // What the client is to get has to be on its way before the reset.
      near.write(head, () => setImmediate(cut));
      far.pause();
    });
    near.on("end", () => far.end());
    far.on("end", () => near.end());
    // Not destroyed: what was written last has to arrive.
    near.on("close", () => far.end());
    far.on("close", () => {
      near.end();
      pairs.delete(pair);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    target,
    cut,
    cutAfterBytes: (sizeBytes) => {
      bytesLeft = sizeBytes;
    },
    setOpen: (value) => {
      isOpen = value;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}
