import { generate } from 'selfsigned';
import type { KeyPair } from '../../core/platform/certificates/index.ts';
import type { Validity } from '../../core/platform/certificates/issue.ts';

export interface CertificateSubject {
  readonly user: string;
  readonly groups: readonly string[];
}

/** A certificate as Kubernetes knows its users by: CN is the name, each O a group. */
export async function issueClientCertificate(
  ca: KeyPair,
  { user, groups }: CertificateSubject,
  { notBefore, notAfter, use = 'clientAuth' }: Validity & { use?: 'clientAuth' | 'serverAuth' },
): Promise<KeyPair> {
  const issued = await generate(
    [
      { name: 'commonName', value: user },
      ...groups.map((value) => ({ name: 'organizationName', value })),
    ],
    {
      keyType: 'ec',
      curve: 'P-256',
      algorithm: 'sha256',
      notBeforeDate: new Date(notBefore),
      notAfterDate: new Date(notAfter),
      ca: { cert: ca.certificate, key: ca.privateKey },
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', [use]: true },
      ],
    },
  );
  return { certificate: issued.cert, privateKey: issued.private };
}
