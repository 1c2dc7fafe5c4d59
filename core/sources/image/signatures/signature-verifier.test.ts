import { generateKeyPairSync, sign } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type KeylessSigner, keylessSigner } from '../../../../test/helpers/keyless-signer.ts';
import { parseImagePolicies } from './image-policy.ts';
import { parseTrustedRoot, SignatureVerifier } from './signature-verifier.ts';
import type { SignedStatement } from './signed-statement.ts';
import { readSigstoreBundle, readSimpleSignature } from './signed-statement.ts';

const repository = 'registry.example.com/acme/app';
const digest = 'sha256:ec36a0e146dddb6bf1e955d65284d07bf090ea76cf156564afc03ce8f361a9fd';

/** Made by cosign 3.1.3 with a throwaway key. */
const golden = {
  publicKey: `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5g0Fw1xD2YoYtXjGogBW8372wqmV
qwwXLRq+fgwjTQnHsqJoM6hXDE/8+rwkR9zlcAz0eiUn7gRverg4dc72Ww==
-----END PUBLIC KEY-----
`,
  payload:
    '{"critical":{"identity":{"docker-reference":"127.0.0.1:17599/acme/legacy"},"image":{"docker-manifest-digest":"sha256:ec36a0e146dddb6bf1e955d65284d07bf090ea76cf156564afc03ce8f361a9fd"},"type":"cosign container image signature"},"optional":null}',
  signature:
    'MEUCIQCy5APrXYSJgCgcD2JJkNXrq6agHDOVPzl5jkEFrnDVdQIgaCgf/TTzrKac+M2z+5VL2gUyqmh4iYfcavRiEFK0eF8=',
  bundle: {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: 'OLhFHFfUzut8UTeKegMA6l8Ap0GMeYb//ouuRYuObdU=' } },
    dsseEnvelope: {
      payload:
        'eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJzdWJqZWN0IjpbeyJkaWdlc3QiOnsic2hhMjU2IjoiZWMzNmEwZTE0NmRkZGI2YmYxZTk1NWQ2NTI4NGQwN2JmMDkwZWE3NmNmMTU2NTY0YWZjMDNjZThmMzYxYTlmZCJ9LCJhbm5vdGF0aW9ucyI6e319XSwicHJlZGljYXRlVHlwZSI6Imh0dHBzOi8vc2lnc3RvcmUuZGV2L2Nvc2lnbi9zaWduL3YxIiwicHJlZGljYXRlIjp7fX0=',
      payloadType: 'application/vnd.in-toto+json',
      signatures: [
        {
          sig: 'MEYCIQCCMfXp/kS5MazeSrEupKGYF7NMFL+Hq+ZcuxL05KfE6gIhAPVSLodwSJyh5zSE+O4x0v7V2YeUrs7nnpX/T/zweRsT',
        },
      ],
    },
  },
};

function simpleSignature(payload = golden.payload, signature = golden.signature): SignedStatement {
  const annotations = { 'dev.cosignproject.cosign/signature': signature };
  return readSimpleSignature(Buffer.from(payload), annotations);
}

function bundleOf(bundle: object): SignedStatement | undefined {
  return readSigstoreBundle(Buffer.from(JSON.stringify(bundle)));
}

function policyFile(glob: string, ...authorities: readonly object[]): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      apiVersion: 'policy.sigstore.dev/v1beta1',
      kind: 'ClusterImagePolicy',
      metadata: { name: 'acme' },
      spec: { images: [{ glob }], authorities },
    }),
  );
}

const key = { key: { data: golden.publicKey } };

async function verify(
  policy: Uint8Array,
  statements: readonly (SignedStatement | undefined)[],
  trustedRoot?: object,
): Promise<void> {
  const trustRoot =
    trustedRoot && parseTrustedRoot('trusted_root.json', JSON.stringify(trustedRoot));
  const policies = parseImagePolicies('policy.yaml', policy);
  await new SignatureVerifier({ policies, trustRoot }).verify({
    repository,
    digest,
    statements: () => Promise.resolve(statements.filter((each) => each !== undefined)),
  });
}

describe('a policy with a public key', () => {
  const policy = policyFile('registry.example.com/acme/*', key);

  test('takes what cosign signed with the key, in either form', async () => {
    await verify(policy, [simpleSignature()]);
    await verify(policy, [bundleOf(golden.bundle)]);
  });

  test('refuses an image without a signature', async () => {
    await expect(verify(policy, [])).rejects.toThrow(
      `${repository}@${digest} does not satisfy image policy "acme": the image is not signed; sign it with cosign, or change the policy`,
    );
  });

  test('refuses the signature of another key, and says of which authority it wants one', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signature = sign('sha256', Buffer.from(golden.payload), privateKey).toString('base64');
    await expect(verify(policy, [simpleSignature(golden.payload, signature)])).rejects.toThrow(
      'no signature by the public key (signature verification failed)',
    );
  });

  test('takes one good signature among bad ones', async () => {
    const bad = simpleSignature(golden.payload, 'MEUCIQ==');
    await verify(policy, [bad, simpleSignature()]);
  });

  test('refuses a good signature of another image', async () => {
    const other = { repository, digest: `sha256:${'0'.repeat(64)}` };
    const policies = parseImagePolicies('policy.yaml', policy);
    const verifier = new SignatureVerifier({ policies });
    const statements = () => Promise.resolve([simpleSignature()]);
    await expect(verifier.verify({ ...other, statements })).rejects.toThrow('is not signed');
  });

  test('refuses a payload that was changed to name this image', async () => {
    const changed = golden.payload.replace('acme/legacy', 'acme/stolen');
    await expect(verify(policy, [simpleSignature(changed)])).rejects.toThrow(
      'signature verification failed',
    );
  });

  test('does not take an attestation for a signature', () => {
    const statement = { predicateType: 'https://slsa.dev/provenance/v1', subject: [] };
    const payload = Buffer.from(JSON.stringify(statement)).toString('base64');
    const { dsseEnvelope } = golden.bundle;
    const provenance = { ...golden.bundle, dsseEnvelope: { ...dsseEnvelope, payload } };
    expect(bundleOf(provenance)).toBeUndefined();
  });

  test('is not asked about other repositories', async () => {
    await verify(policyFile('registry.example.com/*', key), []);
    await verify(policyFile('registry.example.com/acme', key), []);
    await expect(verify(policyFile('registry.example.com/**', key), [])).rejects.toThrow();
    await verify(policyFile('registryXexample.com/**', key), []);
  });
});

describe('a keyless policy', () => {
  const issuer = 'https://issuer.example.com';
  const subject = 'https://git.example.com/acme/app/release.yml@refs/tags/v1';
  let signer: KeylessSigner;

  beforeAll(async () => {
    signer = await keylessSigner({ issuer, subject });
  });

  function keyless(identity: object): Uint8Array {
    return policyFile('**', { name: 'releases', keyless: { identities: [identity] } });
  }

  function signed(by = signer): SignedStatement {
    const payload = Buffer.from(golden.payload);
    return readSimpleSignature(payload, by.annotations(payload));
  }

  test('takes the signature of an identity, exact or by a pattern', async () => {
    await verify(keyless({ issuer, subject }), [signed()], signer.trustedRoot);
    const subjectRegExp = '^https://git\\.example\\.com/acme/.*@refs/tags/v';
    await verify(keyless({ issuer, subjectRegExp }), [signed()], signer.trustedRoot);
  });

  test('names the signer where it is another', async () => {
    const policy = keyless({ issuer, subject: `${subject}.1` });
    await expect(verify(policy, [signed()], signer.trustedRoot)).rejects.toThrow(
      `no signature by releases (it is signed by "${subject}", of issuer "${issuer}")`,
    );
    const otherIssuer = keyless({ issuer: 'https://other.example.com', subject });
    await expect(verify(otherIssuer, [signed()], signer.trustedRoot)).rejects.toThrow(
      'no signature by releases',
    );
  });

  test('refuses a certificate of another authority, and a log that is not in the trust root', async () => {
    const stranger = await keylessSigner({ issuer, subject });
    const policy = keyless({ issuer, subject });
    await expect(verify(policy, [signed(stranger)], signer.trustedRoot)).rejects.toThrow(
      'no signature by releases',
    );
  });

  test('refuses a signature without the log entry that tells its time', async () => {
    const payload = Buffer.from(golden.payload);
    const { 'dev.sigstore.cosign/bundle': _, ...annotations } = signer.annotations(payload);
    const statement = readSimpleSignature(payload, annotations);
    await expect(
      verify(keyless({ issuer, subject }), [statement], signer.trustedRoot),
    ).rejects.toThrow('expected 1 timestamps, got 0');
  });

  test('demands the certificate log that the trust root has', async () => {
    const { tlogs } = signer.trustedRoot as { tlogs: unknown };
    const withLog = { ...signer.trustedRoot, ctlogs: tlogs };
    await expect(verify(keyless({ issuer, subject }), [signed()], withLog)).rejects.toThrow(
      'expected 1 SCTs, got 0',
    );
  });

  test('refuses a signature by a key', async () => {
    await expect(
      verify(keyless({ issuer, subject }), [simpleSignature()], signer.trustedRoot),
    ).rejects.toThrow('it is signed without a certificate');
  });

  test('needs a trust root', async () => {
    await expect(verify(keyless({ issuer, subject }), [])).rejects.toThrow(
      'image policy "acme" has a keyless authority, which needs a trust root (--sigstore-trusted-root)',
    );
  });
});

describe('several authorities and policies', () => {
  const pass = { static: { action: 'pass' } };
  const fail = { static: { action: 'fail' } };

  test('any authority suffices, and every policy counts', async () => {
    await verify(policyFile('**', key, pass), []);
    await expect(verify(policyFile('**', fail), [])).rejects.toThrow('it refuses every image');
    const both = Buffer.concat([policyFile('**', pass), Buffer.from('\n'), policyFile('**', key)]);
    await expect(verify(both, [])).rejects.toThrow('is not signed');
    await verify(both, [simpleSignature()]);
  });

  test('a registry that cannot tell is no registry without signatures', async () => {
    const policies = parseImagePolicies('policy.yaml', policyFile('**', key));
    const statements = () => Promise.reject(new Error('registry is away'));
    await expect(
      new SignatureVerifier({ policies }).verify({ repository, digest, statements }),
    ).rejects.toThrow('registry is away');
  });
});
