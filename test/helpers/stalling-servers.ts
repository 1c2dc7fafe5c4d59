import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anArchive } from './archives.ts';

export interface StallingServers extends AsyncDisposable {
  /** One per server, each on a machine of its own as far as limits per address go. */
  readonly urls: readonly string[];
  /** How many have sent all but the end, so far. */
  readonly stalled: number;
}

/** Kept back of each archive. */
const missingBytes = 1_000;

/** Sooner than core takes a server for dead. */
const dripInterval = 5_000;

/** Servers that send an archive of one file that does not compress, and stall just before its end. */
export async function startStallingServers(count: number, bytes: number): Promise<StallingServers> {
  const archive = await anArchive({ 'manifests/large.bin': randomBytes(bytes) });
  const head = archive.subarray(0, -missingBytes);
  const drips = new Set<NodeJS.Timeout>();
  let stalled = 0;
  const servers = Array.from({ length: count }, () =>
    createServer((_, response) => {
      let next = head.byteLength;
      response.write(head, () => (stalled += 1));
      const drip = setInterval(() => response.write(archive.subarray(next, ++next)), dripInterval);
      drips.add(drip);
      response.on('close', () => clearInterval(drip));
    }),
  );
  for (const [index, server] of servers.entries()) {
    server.listen(0, `127.0.0.${2 + index}`);
    await once(server, 'listening');
  }
  return {
    urls: servers.map((server) => {
      const { address, port } = server.address() as AddressInfo;
      return `http://${address}:${port}/a`;
    }),
    get stalled() {
      return stalled;
    },
    async [Symbol.asyncDispose]() {
      for (const drip of drips) clearInterval(drip);
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        if (server.listening) await once(server, 'close');
      }
    },
  };
}
