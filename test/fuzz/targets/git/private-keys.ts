import { generateKeyPairSync } from 'node:crypto';
import { ed25519AsOpenSSH, parsePrivateKey } from '../../../../core/sources/git/ssh/private-key.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

const ed25519 = generateKeyPairSync('ed25519').privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Keys of git's Secrets; no message may quote them. */
export const privateKeys: FuzzTarget = {
  name: 'private-keys',
  seeds: [
    ed25519AsOpenSSH(ed25519),
    ed25519.export({ format: 'pem', type: 'pkcs8' }).toString(),
    ec.export({ format: 'pem', type: 'sec1' }).toString(),
    ec
      .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' })
      .toString(),
  ],
  words: [
    '-----BEGIN ',
    'PRIVATE KEY-----\n',
    '-----END ',
    'OPENSSH ',
    'Proc-Type: 4,ENCRYPTED\n',
    'b3BlbnNzaC1rZXktdjEA',
  ],
  refusals: [Error],
  async read(input) {
    const text = textOf(input);
    try {
      await parsePrivateKey(text, 'secret');
    } catch (error) {
      const secrets = text.split('\n').filter((line) => line.length > 30);
      if (secrets.some((line) => String(error).includes(line)))
        throw new Violation('quotes a key', { cause: error });
      throw error;
    }
  },
};
