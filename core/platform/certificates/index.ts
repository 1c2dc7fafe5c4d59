export type { KeyPair } from './issue.ts';
export { issueCertificateAuthority, issueServingCertificate } from './issue.ts';
export { belongTogether, expiryOf, hasSigned, parseCertificate, parseCertificates } from './pem.ts';
