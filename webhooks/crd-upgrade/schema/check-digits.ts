/** Numbers that end in a digit computed from the others. Blanks and dashes do not count. */

export function isISBN10(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((sum, digit, index) => {
    return sum + (index + 1) * (digit === 'X' ? 10 : Number(digit));
  }, 0);
  return sum % 11 === 0;
}

export function isISBN13(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (sum, digit, index) => sum + Number(digit) * (index % 2 ? 3 : 1),
    0,
  );
  return sum % 10 === 0;
}

const issuers = [
  '4[0-9]{12}(?:[0-9]{3})?',
  '5[1-5][0-9]{14}',
  '(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}',
  '6(?:011|5[0-9][0-9])[0-9]{12}',
  '3[47][0-9]{13}',
  '3(?:0[0-5]|[68][0-9])[0-9]{11}',
  '(?:2131|1800|35[0-9]{3})[0-9]{11}',
  '6[27][0-9]{14}',
];
const cardNumber = new RegExp(`^(?:${issuers.join('|')})$`);

export function isCreditCard(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!cardNumber.test(digits)) return false;
  const sum = Array.from(digits)
    .toReversed()
    .reduce((sum, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return sum + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function withoutBlanks(text: string): string {
  return text.replace(/[\s-]+/g, '');
}
