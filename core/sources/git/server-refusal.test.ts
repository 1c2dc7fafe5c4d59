import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchGit } from '../../../test/helpers/git-fetch.ts';

let server: Server;
/** Pieces of the answer to a request for the refs, by protocol version 2. */
let pieces: readonly string[];
let more: readonly string[];

function line(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
}

beforeEach(async () => {
  more = [];
  server = createServer((request, response) => {
    const isPost = request.method === 'POST';
    const kind = isPost ? 'result' : 'advertisement';
    response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` });
    const service = `${line('# service=git-upload-pack\n')}0000`;
    const capabilities = ['version 2\n', 'ls-refs\n', 'fetch\n', ...more].map(line).join('');
    for (const piece of isPost ? pieces : [service, capabilities, '0000']) response.write(piece);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function fetched(): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const repository = `http://127.0.0.1:${port}/org/app.git`;
  return await fetchGit({ git: { repository, ref: { branch: 'main' } } });
}

test.each([
  ['at once', (text: string) => [text]],
  ['byte by byte', (text: string) => text.split('')],
])('the reason of a server that comes %s is told', async (_case, cut) => {
  pieces = cut(line('ERR access to this repository is disabled\n'));
  await expect(fetched()).rejects.toThrow(
    'bundle unpack git clone error: the server says: access to this repository is disabled - ',
  );
});

test('a repository with another object format is said to have it', async () => {
  more = ['object-format=sha256\n'];
  pieces = [];
  await expect(fetched()).rejects.toThrow(
    'bundle unpack git clone error: the repository has the object format sha256, and core reads sha1 only: put the content into a repository with this format - ',
  );
});

test('a ref that is not there is still missed', async () => {
  pieces = ['0000'];
  await expect(fetched()).rejects.toThrow('couldn\'t find remote ref "refs/heads/main"');
});
