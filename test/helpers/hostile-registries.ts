import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FrontServer {
  /** `host:port`, plain HTTP. */
  readonly host: string;
  /** Requests so far. */
  readonly requests: number;
  close(): Promise<void>;
}

/** Passes every second request on to the registry and refuses the others, with Retry-After or without. */
export async function startBusyRegistry(registry: string, address?: string): Promise<FrontServer> {
  let count = 0;
  const pass = passTo(registry);
  return await startFront((incoming, response) => {
    count += 1;
    if (count % 2 === 0) return pass(incoming, response);
    response.writeHead(429, count % 4 === 1 ? { 'retry-after': '1' } : {}).end();
  }, address);
}

/** Accepts connections, and never answers. */
export async function startSilentServer(address?: string): Promise<FrontServer> {
  return await startFront(() => undefined, address);
}

/** Passes all requests on to the registry: the same one on another machine, as far as its address says. */
export async function startRegistryAt(address: string, registry: string): Promise<FrontServer> {
  return await startFront(passTo(registry), address);
}

/** Passes requests on to the registry; of a blob it sends so many bytes, then cuts the connection. */
export async function startCuttingRegistry(
  registry: string,
  bytes: number,
  address?: string,
): Promise<FrontServer> {
  const [pass, cut] = [passTo(registry), passTo(registry, bytes)];
  return await startFront((incoming, response) => {
    const isBlob = incoming.url?.includes('/blobs/') ?? false;
    (isBlob ? cut : pass)(incoming, response);
  }, address);
}

/** Passes requests on to the registry; of a blob it sends as many bytes, and others. */
export async function startLyingRegistry(registry: string): Promise<FrontServer> {
  const pass = passTo(registry);
  const lie = passTo(registry, Number.POSITIVE_INFINITY, (chunk) => chunk.map((byte) => byte ^ 1));
  return await startFront((incoming, response) => {
    const isBlob = incoming.url?.includes('/blobs/') ?? false;
    (isBlob ? lie : pass)(incoming, response);
  });
}

export interface StallingRegistry extends FrontServer {
  /** Blobs that were asked for so far. */
  readonly blobs: number;
  /** When a blob is asked for that does not come. */
  readonly stalled: Promise<void>;
  /** Sends all blobs from here on. */
  release(): void;
}

/** Passes requests on to the registry; so many blobs come, and those after them do not. */
export async function startStallingRegistry(
  registry: string,
  blobsToSend: number,
): Promise<StallingRegistry> {
  const pass = passTo(registry);
  const stalled = Promise.withResolvers<void>();
  let blobs = 0;
  let limit = blobsToSend;
  const front = await startFront((incoming, response) => {
    const isBlob = incoming.url?.includes('/blobs/') ?? false;
    if (isBlob) blobs += 1;
    if (blobs <= limit || !isBlob) return pass(incoming, response);
    stalled.resolve();
  });
  return {
    host: front.host,
    close: () => front.close(),
    stalled: stalled.promise,
    get requests() {
      return front.requests;
    },
    get blobs() {
      return blobs;
    },
    release() {
      limit = Number.POSITIVE_INFINITY;
    },
  };
}

async function startFront(listener: RequestListener, address = '127.0.0.1'): Promise<FrontServer> {
  let requests = 0;
  const server = createServer((incoming, response) => {
    requests += 1;
    listener(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    host: `${address}:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends no more than so many bytes of an answer's body. */
function passTo(
  registry: string,
  bytes = Number.POSITIVE_INFINITY,
  change: (chunk: Uint8Array) => Uint8Array = (chunk) => chunk,
): RequestListener {
  return ({ method, headers, url }, response) => {
    const options = { method, headers: { ...headers, host: registry } };
    const outgoing = request(`http://${registry}${url}`, options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      let left = bytes;
      answer.on('data', (chunk: Buffer) => {
        const part = change(chunk.subarray(0, left));
        left -= part.byteLength;
        response.write(part, left > 0 ? undefined : () => response.destroy());
      });
      answer.on('end', () => response.end());
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    outgoing.end();
  };
}
