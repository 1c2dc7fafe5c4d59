import { type TrustMaterial, toSignedEntity, Verifier } from '@sigstore/verify';
import { quoted } from '../../../registry/index.ts';
import type { Identity, KeyAuthority, KeylessAuthority } from './image-policy.ts';
import type { SignedStatement } from './signed-statement.ts';
import type { TrustRoot } from './trusted-root.ts';

/** @throws Error with the reason, unless the key made the signature. */
export function checkKeySignature(statement: SignedStatement, { publicKey }: KeyAuthority): void {
  const { signature } = toSignedEntity(statement.bundle, statement.artifact);
  const material: TrustMaterial = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: () => ({ publicKey, validFor: () => true }),
  };
  // A key is trusted for its own sake: neither logs nor time stamps have a say.
  const verifier = new Verifier(material, {
    tlogThreshold: 0,
    ctlogThreshold: 0,
    timestampThreshold: 0,
  });
  verifier.verify({
    signature,
    key: { $case: 'public-key', hint: '' },
    timestamps: [],
    tlogEntries: [],
  });
}

/** @throws Error with the reason, unless one of the identities signed, as the trust root tells. */
export function checkKeylessSignature(
  statement: SignedStatement,
  { identities }: KeylessAuthority,
  { material }: TrustRoot,
): void {
  const entity = toSignedEntity(statement.bundle, statement.artifact);
  if (entity.key.$case !== 'certificate') throw new Error('it is signed without a certificate');
  // A trust root without logs is of an installation that has none; a time is always needed.
  const verifier = new Verifier(material, {
    tlogThreshold: material.tlogs.length === 0 ? 0 : 1,
    ctlogThreshold: material.ctlogs.length === 0 ? 0 : 1,
    timestampThreshold: 1,
  });
  const { identity = {} } = verifier.verify(entity);
  const issuer = identity.extensions?.issuer ?? '';
  const subject = identity.subjectAlternativeName ?? '';
  if (matchesOne(identities, { issuer, subject })) return;
  throw new Error(`it is signed by ${quoted(subject)}, of issuer ${quoted(issuer)}`);
}

function matchesOne(
  identities: readonly Identity[],
  signer: { readonly issuer: string; readonly subject: string },
): boolean {
  return identities.some((identity) => identity.matches(signer));
}
