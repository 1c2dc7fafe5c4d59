import type { ServerKeywords, ValidationRule } from '../../crd/structural-schema.ts';

/** Rules of fields of the API, with the texts that its first project refuses values with. */

const subdomain = String.raw`self.matches("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")`;

const whatSubdomainIs =
  'It must contain only lowercase alphanumeric characters, hyphens (-) or periods (.), start and end with an alphanumeric character, and be no longer than 253 characters';

export function withRules(...rules: readonly ValidationRule[]): ServerKeywords {
  return { 'x-kubernetes-validations': rules };
}

export function immutable(message: string): ValidationRule {
  return { rule: 'self == oldSelf', message };
}

export const isDnsLabel: ValidationRule = {
  rule: 'self.matches("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")',
  message: 'namespace must be a valid DNS1123 label',
};

export const isChannelName: ValidationRule = {
  rule: subdomain,
  message: 'channels entries must be valid DNS1123 subdomains',
};

export function isSubdomain(field: string): ValidationRule {
  return {
    rule: subdomain,
    message: `${field} must be a valid DNS1123 subdomain. ${whatSubdomainIs}`,
  };
}

/** The block of a union that its type demands, and no other type allows. */
export function requiredBlock(block: string, { type, value }: UnionType, what: string) {
  return {
    rule: `has(self.${type}) && self.${type} == '${value}' ? has(self.${block}) : !has(self.${block})`,
    message: `${block} is required when ${what} is ${value}, and forbidden otherwise`,
  };
}

interface UnionType {
  /** Name of the field that selects the block. */
  readonly type: string;
  readonly value: string;
}

const hasDigest = String.raw`self.find('(@.*:)') != ""`;

const beginsWithDomain: ValidationRule = {
  rule: String.raw`self.matches('^([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])((\\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))+)?(:[0-9]+)?\\b')`,
  message:
    'must start with a valid domain. valid domains must be alphanumeric characters (lowercase and uppercase) separated by the "." character.',
};

const hasName: ValidationRule = {
  rule: String.raw`self.find('(\\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?((\\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?)+)?)') != ""`,
  message:
    'a valid name is required. valid names must contain lowercase alphanumeric characters separated only by the ".", "_", "__", "-" characters.',
};

const tagRules: readonly ValidationRule[] = [
  {
    rule: `self.find('(@.*:)') == "" ? (self.find(':.*$') != "" ? self.find(':.*$').substring(1).size() <= 127 : true) : true`,
    message: 'tag is invalid. the tag must not be more than 127 characters',
  },
  {
    rule: String.raw`self.find('(@.*:)') == "" ? (self.find(':.*$') != "" ? self.find(':.*$').matches(':[\\w][\\w.-]*$') : true) : true`,
    message:
      'tag is invalid. valid tags must begin with a word character (alphanumeric + "_") followed by word characters or ".", and "-" characters',
  },
];

const digestRules: readonly ValidationRule[] = [
  {
    rule: `${hasDigest} ? self.find('(@.*:)').matches('(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*[:])') : true`,
    message:
      'digest algorithm is not valid. valid algorithms must start with an uppercase or lowercase alpha character followed by alphanumeric characters and may contain the "-", "_", "+", and "." characters.',
  },
  {
    rule: `${hasDigest} ? self.find(':.*$').substring(1).size() >= 32 : true`,
    message: 'digest is not valid. the encoded string must be at least 32 characters',
  },
  {
    rule: `${hasDigest} ? self.find(':.*$').matches(':[0-9A-Fa-f]*$') : true`,
    message:
      'digest is not valid. the encoded string must only contain hex characters (A-F, a-f, 0-9)',
  },
];

/** Rules of an image reference with a tag or a digest. */
export const referenceRules: readonly ValidationRule[] = [
  beginsWithDomain,
  hasName,
  {
    rule: `${hasDigest} || self.find(':.*$') != ""`,
    message: 'must end with a digest or a tag',
  },
  ...tagRules,
  ...digestRules,
];

/** Rules of an image reference with a digest. */
export const pinnedReferenceRules: readonly ValidationRule[] = [
  beginsWithDomain,
  hasName,
  { rule: hasDigest, message: 'must end with a digest' },
  ...digestRules,
];
