// @ts-check
/**
 * Listens on a free loopback port and prints the address, as the real server does; ends with its parent.
 * @param {import("node:http").Server} server
 */
export function sayPort(server) {
  server.listen(0, "127.0.0.1", 1024, () => {
    const address = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`http://127.0.0.1:${address.port}`);
  });
  process.stdin.on("end", () => process.exit(0)).resume();
}
