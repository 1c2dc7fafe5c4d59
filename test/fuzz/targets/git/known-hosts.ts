import { createHmac } from 'node:crypto';
import { HostKeys, parseKnownHosts } from '../../../../core/sources/git/ssh/known-hosts.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';
import { askReference } from '../../reference/reference.ts';

const type = Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20', 'latin1');
const [key, other] = [7, 8].map((fill) =>
  Buffer.concat([type, Buffer.alloc(32, fill)]).toString('base64'),
);
const salt = Buffer.alloc(20, 3);
const hashed = createHmac('sha1', salt).update('git.example.com').digest('base64');
const host = 'git.example.com';

/** known_hosts files, compared with golang.org/x/crypto/ssh/knownhosts for one host and key. */
export const knownHosts: FuzzTarget = {
  name: 'known-hosts',
  seeds: [
    `# comment\n${host},192.0.2.1 ssh-ed25519 ${key} somebody@there\n`,
    `|1|${salt.toString('base64')}|${hashed} ssh-ed25519 ${key}\n`,
    `*.example.com,!git.example.com ssh-ed25519 ${key}\n[git.example.com]:2222 ssh-ed25519 ${key}\n`,
    `@revoked * ssh-ed25519 ${key}\n@cert-authority *.example.com ssh-ed25519 ${other}\n`,
  ],
  words: [
    '@revoked ',
    '@cert-authority ',
    '*',
    '?',
    '!',
    ',',
    '|1|',
    ' ssh-ed25519 ',
    ` ssh-ed25519 ${key}\n`,
    host,
    '[',
    ']:22',
    'GIT',
  ],
  refusals: [],
  async read(input) {
    const text = textOf(input);
    const trusted = isTrusted(text);
    const question = Buffer.from(`${host}:22 ssh-ed25519 ${key}\n${inLowerCase(text)}`);
    const go = await askReference('known-hosts', question);
    // Go refuses the whole file if one line is invalid; ssh and core skip that line.
    if (go?.error !== undefined || go === undefined) return;
    if (trusted && go.value !== 'trusted') throw new Violation('trusts a key that Go refuses');
    if (!trusted && go.value === 'trusted') throw new Violation('refuses a key that Go trusts');
  },
};

/** ssh and core ignore the case of host names, Go does not. */
function inLowerCase(text: string): string {
  return text.replaceAll(/^[^\S\n]*(?:@\S+[^\S\n]+)?[^\s|]\S*/gm, (hosts) => hosts.toLowerCase());
}

function isTrusted(text: string): boolean {
  const address = { protocol: 'ssh', user: 'git', host, port: 22, path: '/x' } as const;
  const keys = new HostKeys(parseKnownHosts(text), address, 'known_hosts');
  if (keys.algorithms.length === 0) throw new Violation('offers no algorithm');
  try {
    keys.check(Buffer.from(key ?? '', 'base64'));
    return true;
  } catch {
    return false;
  }
}
