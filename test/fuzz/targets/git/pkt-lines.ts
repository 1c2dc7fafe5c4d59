import { ByteReader } from '../../../../core/content/index.ts';
import { readAdvertisement } from '../../../../core/sources/git/ssh/ssh-transport.ts';
import { type FuzzTarget, streamOf, Violation } from '../../fuzz-target.ts';

const id = '0123456789abcdef0123456789abcdef01234567';

function line(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** The ref advertisement of git-upload-pack. */
export const pktLines: FuzzTarget = {
  name: 'git-pkt-lines',
  seeds: [
    `${line(`${id} HEAD\0multi_ack side-band-64k symref=HEAD:refs/heads/main\n`)}${line(`${id} refs/heads/main\n`)}0000`,
    line('ERR repository not found'),
    '0000',
    'Welcome to this server!\r\n',
  ],
  words: [
    '0000',
    '0001',
    '0002',
    '0003',
    '0004',
    'ffff',
    'FFFF',
    '-001',
    ' 12a',
    'ERR ',
    `${id} refs/tags/v1^{}\n`,
  ],
  refusals: [Error],
  async read(input, signal) {
    const reader = new ByteReader(streamOf(input), signal);
    const lines = await readAdvertisement(reader, { stderr: '' });
    if (!Buffer.from(lines).subarray(-4).equals(Buffer.from('0000')))
      throw new Violation('ends without a flush');
  },
};
