import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PackServer extends AsyncDisposable {
  readonly url: string;
}

/** A git server whose branch `main` is this commit, and that answers every fetch with this pack. */
export async function servePack(pack: Buffer, commit: string): Promise<PackServer> {
  const server = createServer((request, response) => {
    const isFetch = request.url?.endsWith('/git-upload-pack') === true;
    const kind = isFetch ? 'result' : 'advertisement';
    response.setHeader('content-type', `application/x-git-upload-pack-${kind}`);
    request.resume().on('end', () => response.end(isFetch ? answer(pack) : refs(commit)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/repository`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const flush = Buffer.from('0000');
const mostInLine = 65_500;

function refs(commit: string): Buffer {
  const capabilities = 'shallow side-band-64k ofs-delta allow-reachable-sha1-in-want';
  return Buffer.concat([
    line('# service=git-upload-pack\n'),
    flush,
    line(`${commit} HEAD\0${capabilities}\n`),
    line(`${commit} refs/heads/main\n`),
    flush,
  ]);
}

function answer(pack: Buffer): Buffer {
  const lines = [line('NAK\n')];
  for (let at = 0; at < pack.byteLength; at += mostInLine) {
    lines.push(line(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + mostInLine)])));
  }
  return Buffer.concat([...lines, flush]);
}

function line(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  const length = (bytes.byteLength + 4).toString(16).padStart(4, '0');
  return Buffer.concat([Buffer.from(length), bytes]);
}
