import fc from 'fast-check';
import { TerminalError } from '../../../../core/errors.ts';
import { referenceText } from '../../../../core/registry/configuration/pull-places.ts';
import {
  type ImageReference,
  parseImageReference,
  repositoryName,
} from '../../../../core/registry/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';
import { type Answer, askReference } from '../../reference/reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const parts = [
  'a',
  'library',
  'docker.io',
  'index.docker.io',
  'localhost',
  'EXAMPLE.com',
  '[::1]',
  'x_y',
  'x__y',
].concat([
  'x.y',
  'x--y',
  '-',
  '_',
  ':',
  ':5000',
  ':65536',
  '/',
  '//',
  '@',
  digest,
  'sha512:',
  ':v1.0_a-b',
  '.',
  'é',
]);

/** Names of images, compared with github.com/distribution/reference. */
export const imageReferences: FuzzTarget = {
  name: 'image-references',
  seeds: [
    'nginx',
    `quay.io:443/a/b-c/d__e:v1.2.3@${digest}`,
    'localhost/a:latest',
    '[2001:db8::1]:5000/a',
    'a/b/c',
  ],
  words: parts,
  made: fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join('')),
  refusals: [TerminalError],
  async read(input) {
    const text = textOf(input);
    const ours = attempt(text);
    const go = await askReference('reference', Buffer.from(text));
    if (ours instanceof Error) throw ours;
    // Core may refuse more: unverifiable digests, and ports and addresses that no URL can have.
    if (go !== undefined) compare(ours, go);
    const again = parseImageReference(referenceText(ours));
    if (JSON.stringify(again) !== JSON.stringify(ours))
      throw new Violation('reads what it wrote as another reference');
    if (!URL.canParse(`https://${ours.domain}/v2/${ours.path}/manifests/x`)) {
      throw new Violation(
        `takes a domain of which there is no URL: ${JSON.stringify(ours.domain)}`,
      );
    }
  },
};

function attempt(text: string): ImageReference | Error {
  try {
    return parseImageReference(text);
  } catch (error) {
    return error as Error;
  }
}

function compare(ours: ImageReference, { value, error }: Answer): void {
  const { digest, tag } = ours;
  const name = repositoryName(ours) + (digest === undefined ? `:${tag}` : `@${digest}`);
  if (error !== undefined) throw new Violation(`takes as ${name} what Go refuses: ${error}`);
  if (name !== value) throw new Violation(`reads ${name} where Go reads ${String(value)}`);
}
