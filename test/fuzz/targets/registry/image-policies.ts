import { generateKeyPairSync } from 'node:crypto';
import { TerminalError } from '../../../../core/errors.ts';
import { parseImagePolicies } from '../../../../core/sources/image/signatures/image-policy.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';

const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ format: 'pem', type: 'spki' })
  .toString();
const policy = `apiVersion: policy.sigstore.dev/v1beta1
kind: ClusterImagePolicy
metadata: {name: signed}
spec:
  images: [{glob: "quay.io/**"}, {glob: "*.example.com/a*"}]
  authorities:
  - key:
      data: |
        ${pem.trim().replaceAll('\n', '\n        ')}
  - keyless:
      identities:
      - {issuer: "https://accounts.example.com", subjectRegExp: "^.*@example\\\\.com$"}
  - static: {action: pass}
`;

/** Image signature policies. */
export const imagePolicies: FuzzTarget = {
  name: 'image-policies',
  seeds: [policy],
  words: [
    'glob: "',
    '**',
    '(a+)+$',
    '[',
    '\\',
    'key: {}',
    'keyless: {}',
    'issuerRegExp: "',
    'static: {action: fail}',
    '---\n',
  ],
  // The file is YAML first.
  refusals: [Error, TerminalError],
  read(input) {
    for (const policy of parseImagePolicies('policy.yaml', input)) {
      policy.matches('quay.io/a/b');
      const signer = {
        issuer: 'https://accounts.example.com',
        subject: `${'a'.repeat(20)}@example.com`,
      };
      for (const authority of policy.authorities) {
        if (authority.type === 'keyless')
          for (const identity of authority.identities) identity.matches(signer);
      }
    }
  },
};
