import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cpuTime } from '../../../../test/helpers/cpu-time.ts';
import { HostKeys, parseKnownHosts } from './known-hosts.ts';

/** A public key in wire form, as far as anyone looks at it here. */
function aKey(content: string, type = 'ssh-ed25519'): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.from(content)]);
}

const good = aKey('good');
const other = aKey('other');
const rsa = aKey('rsa', 'ssh-rsa');

function line(hosts: string, key = good, type = 'ssh-ed25519'): string {
  return `${hosts} ${type} ${key.toString('base64')} a comment`;
}

function hashed(name: string): string {
  const salt = Buffer.from('0123456789abcdefghij');
  const hash = createHmac('sha1', salt).update(name).digest('base64');
  return `|1|${salt.toString('base64')}|${hash}`;
}

function hostKeys(text: string, host = 'git.example.com', port = 22): HostKeys {
  const address = { protocol: 'ssh', user: 'git', host, port, path: '/x' } as const;
  return new HostKeys(parseKnownHosts(text), address, 'key "ssh-knownhosts" of Secret "s"');
}

describe('a host is known by', () => {
  test.each([
    ['its name', line('git.example.com')],
    ['a name in other letters', line('GIT.Example.com')],
    ['one name of several', line('a.example.com,git.example.com,10.0.0.1')],
    ['a wildcard', line('*.example.com')],
    ['single characters', line('g?t.example.???')],
    ['a wildcard that excludes others', line('*.example.com,!secret.example.com')],
    ['a hashed name', line(hashed('git.example.com'))],
    ['its name with the usual port', line('[git.example.com]:22')],
    ['a wildcard with the usual port', line('[*.example.com]:22')],
    [
      'a later line',
      [line('a.example.com', other), '# comment', '', line('git.example.com')].join('\n'),
    ],
    ['one of its keys', [line('git.example.com', other), line('git.example.com')].join('\r\n')],
    ['tabs and spaces before its name', `\t ${line('git.example.com').replaceAll(' ', '\t')}`],
  ])('%s', (_case, text) => {
    expect(() => hostKeys(text).check(good)).not.toThrow();
  });

  test.each([
    ['its port', line('[git.example.com]:2222')],
    ['its port, hashed', line(hashed('[git.example.com]:2222'))],
    ['its key on port 22', line('git.example.com')],
  ])('%s where that is another', (_case, text) => {
    expect(() => hostKeys(text, 'git.example.com', 2222).check(good)).not.toThrow();
  });

  test('its name where other lines are named as what every object has', () => {
    const odd = ['constructor', 'toString', '__proto__'].map((name) =>
      line(`${name} git.example.com`),
    );
    const types = line('git.example.com', aKey('x', 'constructor'), 'constructor');
    const known = hostKeys([...odd, types, line('git.example.com')].join('\n'));
    expect(() => known.check(good)).not.toThrow();
    expect(known.algorithms.map((algorithm) => typeof algorithm)).toEqual(
      known.algorithms.map(() => 'string'),
    );
  });

  test('an IPv6 address', () => {
    expect(() => hostKeys(line('2001:db8::1'), '2001:db8::1').check(good)).not.toThrow();
    const onPort = hostKeys(line('[2001:db8::1]:2222'), '2001:db8::1', 2222);
    expect(() => onPort.check(good)).not.toThrow();
  });
});

const fingerprint = `SHA256:${createHash('sha256').update(good).digest('base64').replace(/=+$/, '')}`;

describe('a host is not known by', () => {
  test.each([
    ['another name', line('example.com')],
    ['a name that is excluded', line('*.example.com,!git.example.com')],
    ['a name that is excluded with its port', line('*.example.com,![git.example.com]:22')],
    ['a pattern that excludes only', line('!secret.example.com')],
    ['a hash of another name', line(hashed('example.com'))],
    ['a broken hash', line('|1|x')],
    ['a hash of another kind', line(hashed('git.example.com').replace('|1|', '|2|'))],
    ['another port', line('[git.example.com]:2222')],
    ['whatever ends with the port', line('*22')],
    ['a key under another type', line('git.example.com', good, 'ssh-rsa')],
    ['half a line', 'git.example.com ssh-ed25519'],
    ['an unknown marker', `@trusted ${line('git.example.com')}`],
    ['a comment', `#${line('git.example.com')}`],
    ['a name after what only looks blank', `\u2028${line('git.example.com')}`],
    ['nothing', ''],
  ])('%s', (_case, text) => {
    expect(() => hostKeys(text).check(good)).toThrow(
      new Error(
        `ssh: handshake failed: the host key of "git.example.com" is not known: the host shows ssh-ed25519 key ${fingerprint}; if that is right, put its line into key "ssh-knownhosts" of Secret "s"`,
      ),
    );
  });
});

test('another key than the known one', () => {
  expect(() => hostKeys(line('git.example.com', other)).check(good)).toThrow(
    new Error(
      `ssh: handshake failed: ssh: host key mismatch for "git.example.com": the host shows ssh-ed25519 key ${fingerprint}, but other keys are known: somebody may intercept the connection; if that is right, put its line into key "ssh-knownhosts" of Secret "s"`,
    ),
  );
});

test('a port of its own has keys of its own', () => {
  const text = [line('git.example.com'), line('[git.example.com]:2222', other)].join('\n');
  expect(() => hostKeys(text, 'git.example.com', 2222).check(good)).toThrow('mismatch');
});

test('a revoked key is refused, whatever else is known of it', () => {
  const text = [line('git.example.com'), `@revoked ${line('*')}`].join('\n');
  expect(() => hostKeys(text).check(good)).toThrow(
    'the host key of "git.example.com" is revoked: the host shows ssh-ed25519 key',
  );
  expect(() => hostKeys(line('git.example.com')).check(good)).not.toThrow();
});

test('certificates are not supported, and said so', () => {
  const keys = hostKeys(`@cert-authority ${line('*.example.com')}`);
  expect(() => keys.check(other)).toThrow('host certificates (@cert-authority) are not supported');
  // An authority's own key identifies no host.
  expect(() => keys.check(good)).toThrow('is not known');
});

test('the known types of key are asked for first', () => {
  const both = [line('git.example.com', rsa, 'ssh-rsa'), line('a.example.com')].join('\n');
  expect(hostKeys(both).algorithms.slice(0, 4)).toEqual([
    'rsa-sha2-512',
    'rsa-sha2-256',
    'ssh-rsa',
    'ssh-ed25519',
  ]);
  expect(hostKeys('').algorithms[0]).toBe('ssh-ed25519');
});

// With time that grows with the square of the length, this takes hours.
test('a line of a million blanks takes no longer than reading it', () => {
  const text = `x${'\t'.repeat(1_000_000)}x\n${line('git.example.com')}`;
  expect(() => hostKeys(text).check(good)).not.toThrow();
});

test('a hostile pattern takes no time', () => {
  const start = cpuTime();
  const text = line('*a'.repeat(20_000));
  expect(() => hostKeys(text, 'a'.repeat(250)).check(good)).toThrow('is not known');
  expect(cpuTime() - start).toBeLessThan(2000);
});
