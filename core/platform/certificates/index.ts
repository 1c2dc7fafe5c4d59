export { followCertificateFiles, readCertificateFiles } from './certificate-files.ts';
export { issueCertificateAuthority, issueServingCertificate, type KeyPair } from './issue.ts';
export {
  belongTogether,
  expiryOf,
  hasSigned,
  isServable,
  parseCertificate,
  parseCertificates,
  withoutExpired,
} from './pem.ts';
export { type CertificateRotation, createCertificateRotation } from './rotation.ts';
