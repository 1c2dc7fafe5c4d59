import { createServer, type Server } from 'node:http';
import { connect, isIP } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AddressPolicy, createAddressGuard, rangeProblem } from './address-policy.ts';
import { createDispatcher } from './dispatcher.ts';

function isDenied(host: string, policy: AddressPolicy = {}): boolean {
  try {
    createAddressGuard(policy).checkHost(host);
    return false;
  } catch {
    return true;
  }
}

describe('denied are addresses of no public host', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.96.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '255.255.255.255',
    '224.0.0.1',
    '::1',
    '[::1]',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::a00:1',
    '2002:7f00:1::1',
    'fd00::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
  ])('%s', (address) => {
    expect(isDenied(address)).toBe(true);
  });
});

describe('allowed are', () => {
  test.each(['93.184.215.14', '172.32.0.1', '2606:4700::1111', '64:ff9b::8.8.8.8', 'git.corp'])(
    'others: %s',
    (host) => {
      expect(isDenied(host)).toBe(false);
    },
  );

  test("addresses of an admin's ranges, in any notation", () => {
    const allow = ['127.0.0.0/8', '::1', 'fd00::/64'];
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '[::1]', 'fd00::5']) {
      expect(isDenied(address, { allow })).toBe(false);
    }
    expect(isDenied('fd00:0:0:1::5', { allow })).toBe(true);
    expect(isDenied('10.0.0.1', { allow: ['0.0.0.0/0'] })).toBe(false);
  });

  test('not what an admin denies', () => {
    expect(isDenied('93.184.215.14', { deny: ['93.184.0.0/16'] })).toBe(true);
    expect(isDenied('93.184.215.14', { deny: ['93.184.215.14'] })).toBe(true);
  });
});

test.each(['localhost', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0/8', '', '1.1.1.1/x'])(
  '"%s" is no range',
  (text) => {
    expect(rangeProblem(text)).toBe(
      `"${text}" is neither an IP address nor a range such as 10.0.0.0/8`,
    );
    expect(() => createAddressGuard({ allow: [text] })).toThrow('is neither an IP address');
  },
);

describe('a connection', () => {
  let server: Server;
  let port: number;
  let requests = 0;

  beforeAll(async () => {
    server = createServer((_, response) => {
      requests += 1;
      response.end('secret');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { readonly port: number }).port;
  });

  afterAll(() => void server.close());

  async function get(host: string, addresses?: AddressPolicy): Promise<number> {
    const dispatcher = createDispatcher({ addresses, connectTimeout: 5_000, idleTimeout: 5_000 });
    try {
      const { statusCode, body } = await request(`http://${host}:${port}/`, { dispatcher });
      await body.dump();
      return statusCode;
    } finally {
      await dispatcher.destroy();
    }
  }

  test.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1'])(
    'is not made to %s, by name or address',
    async (host) => {
      const before = requests;
      await expect(get(host, {})).rejects.toThrow(
        /has a private, loopback or other denied address/,
      );
      expect(requests).toBe(before);
    },
  );

  test('is made to what is allowed, and without a policy', async () => {
    expect(await get('localhost', { allow: ['127.0.0.0/8'] })).toBe(200);
    expect(await get('127.0.0.1', { allow: ['127.0.0.0/8'] })).toBe(200);
    expect(await get('127.0.0.1')).toBe(200);
  });

  test('is made to the very address that was looked at: a name is resolved once', async () => {
    const { lookup } = createAddressGuard({ allow: ['127.0.0.0/8'] });
    const seen: unknown[] = [];
    const socket = connect({
      host: 'localhost',
      port,
      lookup: (hostname, options, callback) =>
        lookup(hostname, options, (error, found, family) => {
          seen.push(found);
          callback(error, found, family);
        }),
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    const [addresses] = seen as [readonly { readonly address: string }[]];
    expect(seen).toHaveLength(1);
    expect(addresses.map(({ address }) => address)).toContain(socket.remoteAddress);
    expect(addresses.every(({ address }) => isIP(address) === 4)).toBe(true);
    socket.destroy();
  });
});
