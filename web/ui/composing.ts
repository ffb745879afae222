/** Some browsers end a composition before they tell of the Enter that ended it; 229 says that it was its. */
export function isComposing(event: KeyboardEvent | { readonly nativeEvent: KeyboardEvent }): boolean {
  const { isComposing: composes, keyCode } = "nativeEvent" in event ? event.nativeEvent : event;
  return composes || keyCode === 229;
}
