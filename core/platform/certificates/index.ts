export { issueCertificateAuthority, issueServingCertificate } from './issue.ts';
export type { KeyPair } from './key-pair.ts';
export { belongTogether, expiryOf, hasSigned, parseCertificate, parseCertificates } from './pem.ts';
